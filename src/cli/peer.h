// peer.h -- another program as a rival: started once, told line by line when to run, so that rivals
// take turns.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace linnet {

class Peer {
 public:
  // Starts the command and reads its first line, a JSON object; an Error when it ends or says no
  // JSON.
  explicit Peer(const std::vector<std::string>& command);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const nlohmann::json& greeting() const { return greeting_; }
  // Sends one line, returns the JSON object that is answered.
  nlohmann::json ask(const std::string& line);

 private:
  // Until it says something; where the user stops the program, it is ended, too.
  void await();
  nlohmann::json read_line();
  std::string name_;
  pid_t process_ = -1;
  FILE *to_ = nullptr, *from_ = nullptr;
  nlohmann::json greeting_;
};

}  // namespace linnet
